# cmake -DHEADER=FILE -P CountFlatBufferParts.cmake: lets the code that flatc has generated verify strings and vectors by the functions
# of schemas/verify_parts.h, which count them.
file(READ ${HEADER} text)
foreach(kind String Vector VectorOfStrings)
  string(FIND "${text}" "verifier.Verify${kind}(" found)
  if(found EQUAL -1)
    message(FATAL_ERROR "${HEADER} does not verify in the form that is known here: no call of Verify${kind}")
  endif()
  string(REPLACE "verifier.Verify${kind}(" "xc::verify${kind}(verifier, " text "${text}")
endforeach()
string(REPLACE "#include \"flatbuffers/flatbuffers.h\"" "#include \"schemas/verify_parts.h\"" text "${text}")
file(WRITE ${HEADER} "${text}")
