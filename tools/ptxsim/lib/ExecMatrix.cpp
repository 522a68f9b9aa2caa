#include "Exec.h"
void xc::ptxsim::addMatrixOpcodes(OpcodeTable &) {}
