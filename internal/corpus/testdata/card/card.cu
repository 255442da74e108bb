// Runs the kernels that TestWrite wrote on a card, many times each, and counts wrong results and
// hangs: card FOLDER SECONDS JOBS. One process for each kernel, so that one that hangs can be
// ended.
#include <cuda_runtime.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>
using namespace std;

struct Want { string how, type; int buf; vector<double> v; };
struct Kernel { string file, kind, name; int grid, block, coop; vector<vector<unsigned char>> buf; vector<pair<bool, unsigned>> arg; vector<Want> want; };

static vector<Kernel> read(const string& dir) {
	vector<Kernel> all;
	ifstream in(dir + "/list");
	string line;
	while (getline(in, line)) {
		istringstream s(line);
		string w;
		s >> w;
		if (w == "kernel") {
			all.emplace_back();
			Kernel& k = all.back();
			s >> k.file >> k.kind >> k.name >> k.grid >> k.block >> k.coop;
		} else if (w == "buf") {
			size_t n; string hex;
			s >> n >> hex;
			vector<unsigned char> b(n);
			for (size_t i = 0; i < n; i++) b[i] = stoi(hex.substr(2 * i, 2), nullptr, 16);
			all.back().buf.push_back(b);
		} else if (w == "val" || w == "ptr") {
			unsigned v;
			s >> v;
			all.back().arg.push_back({w == "ptr", v});
		} else if (w != "end") {
			Want x;
			int n;
			x.how = w;
			s >> x.buf >> x.type >> n;
			x.v.resize(n);
			for (auto& v : x.v) s >> v;
			all.back().want.push_back(x);
		}
	}
	return all;
}

__global__ void noise(unsigned* p, unsigned n, unsigned rounds) {
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
	for (unsigned r = 0; r < rounds; r++) {
		i = i * 1664525u + 1013904223u;
		if (r & 1) atomicAdd(&p[i % n], 1); else p[i % n] += r;
	}
}

static void ok(cudaError_t e, const char* what) {
	if (e == cudaSuccess) return;
	printf(" error %s: %s", what, cudaGetErrorString(e));
	fflush(stdout);
	_exit(3);
}

static double now() { return chrono::duration<double>(chrono::steady_clock::now().time_since_epoch()).count(); }

static bool right(const Kernel& k, const unsigned char* got) {
	for (auto& w : k.want) {
		const unsigned char* p = got;
		for (int i = 0; i < w.buf; i++) p += (k.buf[i].size() + 255) / 256 * 256;
		vector<double> v;
		for (size_t i = 0; i < w.v.size(); i++) {
			if (w.type == "f32") v.push_back(((const float*)p)[i]);
			else if (w.type == "f64") v.push_back(((const double*)p)[i]);
			else if (w.type == "s32") v.push_back(((const int*)p)[i]);
			else if (w.type == "u64") v.push_back(((const unsigned long long*)p)[i]);
			else v.push_back(((const unsigned*)p)[i]);
		}
		if (w.how == "sorted") sort(v.begin(), v.end());
		for (size_t i = 0; i < v.size(); i++)
			if (!(fabs(v[i] - w.v[i]) <= (w.how == "near" ? 1e-5 * fabs(w.v[i]) : 0))) return false;
	}
	return true;
}

static void one(const Kernel& k, const string& dir, double seconds) {
	ifstream f(dir + "/" + k.file);
	string text((istreambuf_iterator<char>(f)), {}), out;
	istringstream lines(text);
	string line;
	bool in = false, put = false;
	while (getline(lines, line)) {
		size_t c = line.find_first_not_of(" \t");
		if (line.find(".entry") != string::npos) in = true;
		else if (in && !put && c != string::npos && line[0] != ')' && line[c] != '.' && line[c] != '{' && line[c] != '/' && line[c] != ')') {
			// A delay of up to 2 us, another for each warp and launch.
			out += "{ .reg .b32 d0,d1; mov.u32 d0,%clock; mov.u32 d1,%ctaid.x; mad.lo.u32 d0,d1,747796405,d0; mul.lo.u32 d0,d0,-1640531527; shr.u32 d0,d0,21; nanosleep.u32 d0; }\n";
			put = true;
		}
		out += line + "\n";
	}
	const int N = 16;
	size_t size = 0;
	for (auto& b : k.buf) size += (b.size() + 255) / 256 * 256;
	ok(cudaSetDevice(0), "device");
	cudaLibrary_t lib;
	cudaKernel_t fn;
	ok(cudaLibraryLoadData(&lib, out.c_str(), 0, 0, 0, 0, 0, 0), "ptx");
	ok(cudaLibraryGetKernel(&fn, lib, k.name.c_str()), "kernel");
	unsigned char *init, *dev, *host;
	unsigned* far;
	const unsigned words = 16 << 20;
	ok(cudaMalloc(&init, size), "malloc");
	ok(cudaMalloc(&dev, size * N), "malloc");
	ok(cudaMalloc(&far, 4ull * words), "malloc");
	ok(cudaMallocHost(&host, size * N), "malloc");
	size_t at = 0;
	vector<size_t> off;
	for (auto& b : k.buf) {
		ok(cudaMemcpy(init + at, b.data(), b.size(), cudaMemcpyHostToDevice), "copy");
		off.push_back(at);
		at += (b.size() + 255) / 256 * 256;
	}
	cudaStream_t st[N + 1];
	for (auto& s : st) ok(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking), "stream");
	vector<void*> ptr(k.arg.size());
	vector<void*> arg(k.arg.size());
	long runs = 0, wrong = 0;
	double end = now() + seconds;
	while (now() < end) {
		if (cudaStreamQuery(st[N]) == cudaSuccess) noise<<<60, 128, 0, st[N]>>>(far, words, 400);
		for (int n = 0; n < N; n++) {
			ok(cudaMemcpyAsync(dev + n * size, init, size, cudaMemcpyDeviceToDevice, st[n]), "copy");
			for (size_t i = 0; i < k.arg.size(); i++) {
				ptr[i] = k.arg[i].first ? (void*)(dev + n * size + off[k.arg[i].second]) : (void*)(size_t)k.arg[i].second;
				arg[i] = &ptr[i];
			}
			if (k.coop) ok(cudaLaunchCooperativeKernel((const void*)fn, dim3(k.grid), dim3(k.block), arg.data(), 0, st[n]), "launch");
			else ok(cudaLaunchKernel((const void*)fn, dim3(k.grid), dim3(k.block), arg.data(), 0, st[n]), "launch");
			ok(cudaMemcpyAsync(host + n * size, dev + n * size, size, cudaMemcpyDeviceToHost, st[n]), "copy");
		}
		double late = now() + 5;
		for (int n = 0; n < N; n++) {
			cudaError_t e;
			while ((e = cudaStreamQuery(st[n])) == cudaErrorNotReady)
				if (now() > late) {
					printf("%ld runs, %ld wrong, then a hang\n", runs, wrong);
					fflush(stdout);
					_exit(2);
				}
			ok(e, "run");
			runs++;
			if (!right(k, host + n * size)) wrong++;
		}
	}
	printf("%ld runs, %ld wrong\n", runs, wrong);
	fflush(stdout);
	_exit(wrong > 0);
}

int main(int argc, char** argv) {
	string dir = argv[1];
	double seconds = atof(argv[2]);
	int jobs = atoi(argv[3]);
	vector<Kernel> all = read(dir);
	struct Job { size_t k; int fd; double until; };
	map<pid_t, Job> running;
	size_t next = 0;
	double stop = now() + (argc > 4 ? atof(argv[4]) : 1e9);
	while (next < all.size() || !running.empty()) {
		while (next < all.size() && (int)running.size() < jobs && now() < stop) {
			int fd[2];
			if (pipe(fd)) return 1;
			pid_t p = fork();
			if (p == 0) {
				dup2(fd[1], 1);
				close(fd[0]);
				one(all[next], dir, seconds);
			}
			close(fd[1]);
			running[p] = {next++, fd[0], now() + seconds + 20};
		}
		if (now() >= stop) next = all.size();
		int status;
		pid_t p = waitpid(-1, &status, WNOHANG);
		if (p > 0 && running.count(p)) {
			char text[400] = {};
			if (::read(running[p].fd, text, 399) < 0) text[0] = 0;
			close(running[p].fd);
			for (char* c = text; *c; c++) if (*c == '\n') *c = ' ';
			Kernel& k = all[running[p].k];
			printf("%-10s %-50s %s %s\n", k.kind.c_str(), k.file.c_str(), text, WIFSIGNALED(status) ? "killed" : "");
			fflush(stdout);
			running.erase(p);
			continue;
		}
		for (auto& r : running)
			if (now() > r.second.until) kill(r.first, SIGKILL);
		usleep(2000);
	}
}
