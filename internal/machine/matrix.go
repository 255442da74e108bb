package machine

// The matrix instructions that a warp executes at once: ldmatrix, stmatrix,
// movmatrix and mma.sync, dense and sparse.

var matrixDecoders = map[string]decodeFn{}
