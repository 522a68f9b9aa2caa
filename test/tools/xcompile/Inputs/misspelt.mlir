func.func @main(%x: tensor<?xf32> {array.name = "x"}) -> (tensor<?xf32> {array.name = "y"}) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %a = array.neg %x : tensor<?xf32>
  %y = array.custom_kernel "twice"(%a) scalars(%n) as [i32] sizes(%n) grid = affine_map<()[n] -> (n ceildiv 64, 1, 1)>
      block = [64, 1, 1] reuse = [0] {file = "misspelt.ptx"} : (tensor<?xf32>) -> tensor<?xf32>
  %z = array.abs %y : tensor<?xf32>
  return %z : tensor<?xf32>
}
