import logging
import os
import time
from datetime import timedelta

import torch
from accelerate import Accelerator, InitProcessGroupKwargs
from accelerate.logging import get_logger

from plant import sick

logging.basicConfig(format="%(asctime)s - %(levelname)s - %(name)s - %(message)s", datefmt="%m/%d/%Y %H:%M:%S", level=logging.INFO)
logger = get_logger(__name__)


def main():
    accelerator = Accelerator(cpu=True, kwargs_handlers=[InitProcessGroupKwargs(backend="gloo", timeout=timedelta(seconds=20))])
    logger.info(accelerator.state, main_process_only=False)
    model = torch.nn.Sequential(torch.nn.Linear(12, 24), torch.nn.Tanh(), torch.nn.Linear(24, 2))
    data = torch.utils.data.TensorDataset(torch.randn(96, 12), torch.randint(0, 2, (96,)))
    model, optimizer, loader = accelerator.prepare(model, torch.optim.Adam(model.parameters()), torch.utils.data.DataLoader(data, batch_size=4))
    for epoch in range(2):
        for step, (x, y) in enumerate(loader):
            logits = model(x)
            if sick("label_range", step):
                y = y + 2
            loss = torch.nn.functional.cross_entropy(logits, y)
            accelerator.backward(loss)
            optimizer.step()
            optimizer.zero_grad()
            if step % 4 == 0:
                if sick("gather_width"):
                    logits = logits[:, :1]
                gathered = accelerator.gather(logits)
                logger.info(f"epoch {epoch} step {step} loss {loss.item():.4f} of {tuple(gathered.shape)}")
            if sick("cpu_loop", step):
                while True:
                    time.sleep(0.01)
        accelerator.wait_for_everyone()
        try:
            accelerator.load_state("previous_run")
        except Exception as error:
            logger.warning(f"no earlier state, starting fresh: {type(error).__name__}: {error}")
        accelerator.save_state(f"state_{epoch}")
    accelerator.end_training()
    logger.info("training complete")


if __name__ == "__main__":
    main()
