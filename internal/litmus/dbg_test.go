package litmus
import ("testing";"os")
func TestDbg(t *testing.T){
 text,_:=os.ReadFile(os.Getenv("F"))
 x,err:=Read("f",text); if err!=nil {t.Fatal(err)}
 t.Logf("%+v", x.Barriers)
 o,err:=x.Axioms(2,nil); t.Log(err); t.Logf("%+v",o)
 for i:=range o.List { if o.List[i].Graph!=nil {for _,l:=range o.List[i].Graph.Lines(){t.Log(l)}}}
}
