"""Each rank says which device it was given and does some work on it."""

import os

import torch
import torch.distributed as dist


def main():
    visible = os.environ.get("CUDA_VISIBLE_DEVICES", "")
    print(f"CUDA_VISIBLE_DEVICES={visible} devices={torch.cuda.device_count()}")
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("nccl" if dist.is_nccl_available() else "gloo")
    total = torch.ones(1024, 1024, device=device) @ torch.ones(1024, 1024, device=device)
    dist.all_reduce(total)
    print(f"rank {dist.get_rank()} of {dist.get_world_size()} on {torch.cuda.get_device_name(device)}: {total[0, 0].item():.0f}")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
