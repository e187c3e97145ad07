"""CUDA: NVIDIA's driver, its run-time compiler NVRTC, and the backend made of them."""
