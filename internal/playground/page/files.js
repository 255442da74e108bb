// The file system of one run, in memory: what Go's wasm_exec.js asks for under the name fs,
// in the form of Node's. Every call answers in the call itself, so that the program needs no
// turn of the event loop for it. What is written is bounded.

const O_WRONLY = 1, O_RDWR = 2, O_CREAT = 64, O_EXCL = 128, O_TRUNC = 512, O_APPEND = 1024, O_DIRECTORY = 65536;
const FOLDER = 0o040000, FILE = 0o100000;

// The bounds on all files together, and on their number.
export const mostBytes = 512 << 20;
const mostFiles = 10000;

function refused(code, what) {
  const err = new Error(`${code}: ${what}`);
  err.code = code;
  return err;
}

// resolve makes a path absolute, without . and .. and doubled slashes.
function resolve(...parts) {
  const list = [];
  for (const part of parts.join("/").split("/")) {
    if (part === "..") list.pop();
    else if (part !== "" && part !== ".") list.push(part);
  }
  return "/" + list.join("/");
}

// A Node is a file, whose bytes are data[:size], or a folder, which has entries.
class Node {
  constructor(id, mode) {
    this.id = id;
    this.mode = mode;
    this.time = Date.now();
    this.size = 0;
    if ((mode & FOLDER) !== 0) this.entries = new Map();
    else this.data = new Uint8Array(0);
  }

  stat() {
    const time = this.time, folder = this.entries !== undefined;
    return {
      dev: 1, ino: this.id, mode: this.mode, nlink: 1, uid: 0, gid: 0, rdev: 0, size: this.size, blksize: 4096, blocks: Math.ceil(this.size / 512),
      atimeMs: time, mtimeMs: time, ctimeMs: time, isDirectory: () => folder,
    };
  }
}

// Files are the files of one run. print takes what is written to 1 and 2; panicked takes what
// the Go runtime itself says before it ends the program.
export class Files {
  constructor(print, panicked) {
    this.ids = 0;
    this.count = 0;
    this.held = 0;
    this.root = this.node(FOLDER | 0o777);
    this.open = new Map();
    this.cwd = "/work";
    this.print = print;
    this.panicked = panicked;
    this.folder(this.cwd);
    this.folder("/tmp");
  }

  node(mode) {
    if (++this.count > mostFiles) throw refused("ENOSPC", "too many files");
    return new Node(++this.ids, mode);
  }

  // find returns the folder that a path's last part lies in, that part's name, and its node if
  // there is one.
  find(path) {
    const parts = resolve(path.startsWith("/") ? "" : this.cwd, path).split("/").filter(p => p !== "");
    const name = parts.pop();
    let folder = this.root;
    for (const part of parts) {
      const next = folder.entries.get(part);
      if (next === undefined) throw refused("ENOENT", path);
      if (next.entries === undefined) throw refused("ENOTDIR", path);
      folder = next;
    }
    return { folder, name, node: name === undefined ? this.root : folder.entries.get(name) };
  }

  at(path) {
    const { node } = this.find(path);
    if (node === undefined) throw refused("ENOENT", path);
    return node;
  }

  file(fd) {
    const f = this.open.get(fd);
    if (f === undefined) throw refused("EBADF", String(fd));
    return f;
  }

  // folder makes a folder and those above it.
  folder(path) {
    let node = this.root;
    for (const part of resolve(path).split("/")) {
      if (part === "") continue;
      let next = node.entries.get(part);
      if (next === undefined) node.entries.set(part, next = this.node(FOLDER | 0o777));
      if (next.entries === undefined) throw refused("ENOTDIR", path);
      node = next;
    }
  }

  // put makes a file of text or bytes, with the folders of its path.
  put(path, data) {
    const bytes = typeof data === "string" ? new TextEncoder().encode(data) : data;
    const whole = resolve(path.startsWith("/") ? "" : this.cwd, path);
    this.folder(whole.slice(0, whole.lastIndexOf("/")));
    const { folder, name, node } = this.find(whole);
    if (name === undefined || node !== undefined) throw refused("EEXIST", path);
    const file = this.node(FILE | 0o666);
    this.resize(file, bytes.length);
    file.data.set(bytes);
    folder.entries.set(name, file);
  }

  // get returns a file's bytes, or undefined if there is no such file.
  get(path) {
    try {
      const node = this.at(path);
      return node.entries === undefined ? node.data.slice(0, node.size) : undefined;
    } catch {
      return undefined;
    }
  }

  // resize gives a file its length; what it has room for grows by halves.
  resize(node, size) {
    if (size > node.data.length) {
      const room = Math.max(size, node.data.length + (node.data.length >> 1));
      if (this.held + room - node.data.length > mostBytes) throw refused("ENOSPC", "no space left for files");
      const data = new Uint8Array(room);
      data.set(node.data.subarray(0, node.size));
      this.held += room - node.data.length;
      node.data = data;
    } else if (size < node.size) {
      node.data.fill(0, size, node.size);
    }
    node.size = size;
  }

  drop(node) {
    this.count--;
    if (node.data !== undefined) this.held -= node.data.length;
  }

  // api is what Go calls: each call gets a callback as its last argument.
  api() {
    const calls = {
      open: (path, flags, mode) => this.openFile(path, flags, mode),
      close: fd => {
        if (fd > 2) this.file(fd);
        this.open.delete(fd);
      },
      read: (fd, buffer, offset, length, position) => this.read(fd, buffer.subarray(offset, offset + length), position),
      write: (fd, buffer, offset, length, position) => this.write(fd, buffer.subarray(offset, offset + length), position),
      fstat: fd => (fd < 3 ? new Node(0, 0o020666) : this.file(fd).node).stat(),
      stat: path => this.at(path).stat(),
      lstat: path => this.at(path).stat(),
      readdir: path => this.list(path),
      mkdir: (path, mode) => this.add(path, FOLDER | mode),
      rmdir: path => this.remove(path, true),
      unlink: path => this.remove(path, false),
      rename: (from, to) => this.rename(from, to),
      ftruncate: (fd, size) => this.resize(this.file(fd).node, size),
      truncate: (path, size) => this.resize(this.at(path), size),
      fsync: () => undefined,
      chmod: path => { this.at(path); },
      fchmod: fd => { this.file(fd); },
      utimes: path => { this.at(path); },
      readlink: path => { this.at(path); throw refused("EINVAL", path); },
    };
    const fs = {
      constants: { O_WRONLY, O_RDWR, O_CREAT, O_TRUNC, O_APPEND, O_EXCL, O_DIRECTORY },
      writeSync: (fd, buffer) => { this.panicked(buffer); return buffer.length; },
    };
    for (const name of ["chown", "fchown", "lchown", "link", "symlink"]) calls[name] = () => { throw refused("ENOSYS", name); };
    for (const [name, call] of Object.entries(calls)) {
      fs[name] = (...args) => {
        const callback = args.pop();
        let value;
        try {
          value = call(...args);
        } catch (err) {
          callback(err.code === undefined ? refused("EIO", err.message) : err);
          return;
        }
        callback(null, value);
      };
    }
    return fs;
  }

  process() {
    const none = () => -1;
    return {
      pid: 1, ppid: 0, getuid: none, getgid: none, geteuid: none, getegid: none, getgroups: () => [], umask: () => 0,
      cwd: () => this.cwd,
      chdir: path => {
        if (this.at(path).entries === undefined) throw refused("ENOTDIR", path);
        this.cwd = resolve(path.startsWith("/") ? "" : this.cwd, path);
      },
    };
  }

  path() {
    return { resolve: (...parts) => resolve(parts[0].startsWith("/") ? "" : this.cwd, ...parts) };
  }

  openFile(path, flags, mode) {
    let { folder, name, node } = this.find(path);
    const writes = (flags & (O_WRONLY | O_RDWR)) !== 0;
    if (node === undefined) {
      if ((flags & O_CREAT) === 0) throw refused("ENOENT", path);
      node = this.node(FILE | (mode & 0o777));
      folder.entries.set(name, node);
    } else if ((flags & O_CREAT) !== 0 && (flags & O_EXCL) !== 0) {
      throw refused("EEXIST", path);
    }
    if (node.entries !== undefined && (writes || (flags & O_CREAT) !== 0)) throw refused("EISDIR", path);
    if (node.entries === undefined && (flags & O_DIRECTORY) !== 0) throw refused("ENOTDIR", path);
    if (writes && (flags & O_TRUNC) !== 0) this.resize(node, 0);
    let fd = 3;
    while (this.open.has(fd)) fd++;
    this.open.set(fd, { node, at: 0, writes, reads: (flags & O_WRONLY) === 0, appends: (flags & O_APPEND) !== 0 });
    return fd;
  }

  // read reads from a place, or from where the last read ended. Standard input is empty.
  read(fd, into, position) {
    if (fd === 0) return 0;
    const f = this.file(fd);
    if (f.node.entries !== undefined) throw refused("EISDIR", String(fd));
    if (!f.reads) throw refused("EBADF", String(fd));
    const from = position ?? f.at;
    const n = Math.max(0, Math.min(into.length, f.node.size - from));
    into.set(f.node.data.subarray(from, from + n));
    if (position === null || position === undefined) f.at += n;
    return n;
  }

  write(fd, bytes, position) {
    if (fd === 1 || fd === 2) {
      this.print(fd, bytes);
      return bytes.length;
    }
    const f = this.file(fd);
    if (!f.writes) throw refused("EBADF", String(fd));
    const to = f.appends ? f.node.size : position ?? f.at;
    if (to + bytes.length > f.node.size) this.resize(f.node, to + bytes.length);
    f.node.data.set(bytes, to);
    f.node.time = Date.now();
    if (position === null || position === undefined) f.at = to + bytes.length;
    return bytes.length;
  }

  list(path) {
    const node = this.at(path);
    if (node.entries === undefined) throw refused("ENOTDIR", path);
    return [...node.entries.keys()];
  }

  add(path, mode) {
    const { folder, name, node } = this.find(path);
    if (node !== undefined || name === undefined) throw refused("EEXIST", path);
    folder.entries.set(name, this.node(mode));
  }

  remove(path, isFolder) {
    const { folder, name, node } = this.find(path);
    if (node === undefined) throw refused("ENOENT", path);
    if ((node.entries !== undefined) !== isFolder) throw refused(isFolder ? "ENOTDIR" : "EISDIR", path);
    if (name === undefined) throw refused("EBUSY", path);
    if (isFolder && node.entries.size > 0) throw refused("ENOTEMPTY", path);
    folder.entries.delete(name);
    this.drop(node);
  }

  rename(from, to) {
    const old = this.find(from), now = this.find(to);
    if (old.node === undefined) throw refused("ENOENT", from);
    if (old.name === undefined || now.name === undefined) throw refused("EBUSY", from);
    if (now.node === old.node) return;
    if (within(old.node, now.folder)) throw refused("EINVAL", to);
    if (now.node !== undefined) {
      if (within(now.node, old.folder)) throw refused("ENOTEMPTY", to);
      if (now.node.entries === undefined && old.node.entries !== undefined) throw refused("ENOTDIR", to);
      if (now.node.entries !== undefined && old.node.entries === undefined) throw refused("EISDIR", to);
      if (now.node.entries !== undefined && now.node.entries.size > 0) throw refused("ENOTEMPTY", to);
      this.drop(now.node);
    }
    old.folder.entries.delete(old.name);
    now.folder.entries.set(now.name, old.node);
  }
}

// within reports whether a folder is another one, or lies in it.
function within(outer, inner) {
  return outer === inner || outer.entries !== undefined && [...outer.entries.values()].some(n => n.entries !== undefined && within(n, inner));
}
