package ptx

var formsByOp = map[string][]*Form{}
