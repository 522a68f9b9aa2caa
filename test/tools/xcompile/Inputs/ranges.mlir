module {
  func.func @main(%x: tensor<?x16xf32> {array.dims = ["n", ""]}) -> tensor<?xf32> attributes {array.dim_range = {n = [8, 128, 8]}} {
    %t = array.transpose %x permutation = [1, 0] : tensor<?x16xf32> -> tensor<16x?xf32>
    %p = array.matmul %x, %t : (tensor<?x16xf32>, tensor<16x?xf32>) -> tensor<?x?xf32>
    %s = array.sort %p axis = 1 : tensor<?x?xf32> -> tensor<?x?xf32>
    %r = array.reduce sum, %s axes = [1] : tensor<?x?xf32> -> tensor<?xf32>
    return %r : tensor<?xf32>
  }
}
