func.func @bytes(%x: tensor<512x512xi8>) -> tensor<512x512xi8> {
  %y = array.transpose %x permutation = [1, 0] : tensor<512x512xi8> -> tensor<512x512xi8>
  return %y : tensor<512x512xi8>
}
func.func @odd_bytes(%x: tensor<509x515xi8>) -> tensor<515x509xi8> {
  %y = array.transpose %x permutation = [1, 0] : tensor<509x515xi8> -> tensor<515x509xi8>
  return %y : tensor<515x509xi8>
}
func.func @halves(%x: tensor<512x512xbf16>) -> tensor<512x512xbf16> {
  %y = array.transpose %x permutation = [1, 0] : tensor<512x512xbf16> -> tensor<512x512xbf16>
  return %y : tensor<512x512xbf16>
}
func.func @columns(%x: tensor<512x1024xbf16>) -> tensor<1024xbf16> {
  %y = array.reduce sum, %x axes = [0] : tensor<512x1024xbf16> -> tensor<1024xbf16>
  return %y : tensor<1024xbf16>
}
