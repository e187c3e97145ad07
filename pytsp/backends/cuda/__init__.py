"""CUDA: NVIDIA's driver, its run-time compiler NVRTC, where its libraries lie, and the backend made of them."""
