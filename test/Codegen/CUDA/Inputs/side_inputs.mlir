// Products with residuals, each of sizes of its own.
func.func @main(%a0: tensor<200x136xbf16>, %b0: tensor<264x136xbf16>, %r0: tensor<200x264xbf16>,
                %a1: tensor<1536x136xbf16>, %b1: tensor<136x192xbf16>, %r1: tensor<1536x192xbf16>,
                %a2: tensor<3x72x264xf16>, %b2: tensor<3x264x200xf16>, %r2: tensor<3x72x200xf16>,
                %a3: tensor<496x72xbf16>, %b3: tensor<72x520xbf16>, %r3: tensor<496x520xbf16>, %s3: tensor<496x520xbf16>,
                %a4: tensor<256x64xbf16>, %b4: tensor<64x512xbf16>, %r4: tensor<256x512xbf16>,
                %a5: tensor<130x64xbf16>, %b5: tensor<64x264xbf16>, %r5: tensor<130x264xbf16>)
    -> (tensor<200x264xbf16>, tensor<1536x192xbf16>, tensor<3x72x200xf16>, tensor<496x520xbf16>, tensor<256x512xbf16>,
        tensor<130x264xf32>) {
  %p0 = array.matmul %a0, %b0 transpose_b : (tensor<200x136xbf16>, tensor<264x136xbf16>) -> tensor<200x264xbf16>
  %q0 = array.add %p0, %r0 : tensor<200x264xbf16>
  %o0 = array.relu %q0 : tensor<200x264xbf16>
  %p1 = array.matmul %a1, %b1 : (tensor<1536x136xbf16>, tensor<136x192xbf16>) -> tensor<1536x192xbf16>
  %o1 = array.add %p1, %r1 : tensor<1536x192xbf16>
  %p2 = array.matmul %a2, %b2 : (tensor<3x72x264xf16>, tensor<3x264x200xf16>) -> tensor<3x72x200xf16>
  %o2 = array.add %p2, %r2 : tensor<3x72x200xf16>
  %p3 = array.matmul %a3, %b3 : (tensor<496x72xbf16>, tensor<72x520xbf16>) -> tensor<496x520xbf16>
  %q3 = array.mul %p3, %s3 : tensor<496x520xbf16>
  %o3 = array.add %q3, %r3 : tensor<496x520xbf16>
  %p4 = array.matmul %a4, %b4 : (tensor<256x64xbf16>, tensor<64x512xbf16>) -> tensor<256x512xbf16>
  %o4 = array.add %p4, %r4 : tensor<256x512xbf16>
  %p5 = array.matmul %a5, %b5 : (tensor<130x64xbf16>, tensor<64x264xbf16>) -> tensor<130x264xf32>
  %w5 = array.convert %r5 : tensor<130x264xbf16> -> tensor<130x264xf32>
  %o5 = array.add %p5, %w5 : tensor<130x264xf32>
  return %o0, %o1, %o2, %o3, %o4, %o5 : tensor<200x264xbf16>, tensor<1536x192xbf16>, tensor<3x72x200xf16>, tensor<496x520xbf16>,
      tensor<256x512xbf16>, tensor<130x264xf32>
}
