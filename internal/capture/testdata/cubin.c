// Machine code as far as it is looked at: an ELF file with a section for a kernel's parameters.
int parameters __attribute__((section(".nv.constant0.add")));
