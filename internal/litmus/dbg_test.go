package litmus
import ("testing";"os";"io/fs";"path/filepath";"time")
func TestDbg(t *testing.T){
 f:=os.Getenv("F"); if f=="" {t.Skip()}
 text,_:=os.ReadFile(f)
 x,err:=Read("f",text); if err!=nil {t.Fatal(err)}
 k,err:=x.Kernel(2); t.Log(err); if k!=nil {t.Log(k.PTX)}
 o,err:=x.Axioms(2,nil); t.Log(err); t.Logf("%+v",o)
 for i:=range o.List { if o.List[i].Graph!=nil {for _,l:=range o.List[i].Graph.Lines(){t.Log(l)}}}
 o,err=x.Machine(2,DefaultLimits,nil); t.Log(err); t.Logf("%+v",o)
}
func TestDbgAll(t *testing.T){
 d:=os.Getenv("D"); if d=="" {t.Skip()}
 total:=time.Now()
 n:=map[string]int{}
 filepath.WalkDir(d, func(path string, e fs.DirEntry, err error) error {
  if filepath.Ext(path)!=".litmus" {return err}
  text,_:=os.ReadFile(path)
  x,err:=Read(path[len(d):],text); if err!=nil {t.Log(err);return nil}
  a,err:=x.Axioms(2,nil); if err!=nil {t.Log(err);return nil}
  s:=time.Now()
  b,err:=x.Machine(2,DefaultLimits,nil); if err!=nil {n["need"]++; if len(err.Error())>0 {t.Log(err)};return nil}
  took:=time.Since(s)
  ha,_:=x.holds(a); hb,sure:=x.holds(b)
  kind:="agree"
  for i:=range b.List {if a.find(b.List[i].Values)==nil {kind="B ONLY"}}
  if kind=="agree" && !sure {kind="unsure"} else if kind=="agree" && ha!=hb {kind="lacks"}
  n[kind]++
  if !b.Complete {n["incomplete"]++}
  if kind=="B ONLY"|| kind=="unsure" || took>time.Second {t.Log(path[len(d):], kind, ha, hb, b.Count, len(b.List), b.Why, took, a.Loops, b.Hangs)}
  return nil
 })
 t.Log(n, time.Since(total))
}
