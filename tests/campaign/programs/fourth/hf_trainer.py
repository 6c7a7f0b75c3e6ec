import os
import signal
import time

import torch
from transformers import EarlyStoppingCallback, PretrainedConfig, PreTrainedModel, Trainer, TrainerCallback, TrainingArguments

from plant import own_rank, sick


class TinyConfig(PretrainedConfig):
    model_type = "tiny"


class Tiny(PreTrainedModel):
    config_class = TinyConfig

    def __init__(self, config):
        super().__init__(config)
        self.emb = torch.nn.Embedding(50, 16)
        self.out = torch.nn.Linear(16, 3)
        self.post_init()

    def forward(self, input_ids=None, labels=None):
        logits = self.out(self.emb(input_ids).mean(1))
        return {"loss": torch.nn.functional.cross_entropy(logits, labels), "logits": logits}


class Texts(torch.utils.data.Dataset):
    def __init__(self, size):
        self.size = size

    def __len__(self):
        return self.size

    def __getitem__(self, index):
        return {"input_ids": torch.tensor([(index * k) % 50 for k in range(1, 9)]), "labels": index % 3}


def collate(rows):
    labels = [row["label" if sick("renamed_column") else "labels"] for row in rows]
    ids = torch.stack([row["input_ids"] for row in rows])
    if sick("big_token"):
        ids[0, 0] = 50257
    return {"input_ids": ids, "labels": torch.tensor(labels)}


def metrics(prediction):
    if sick("metric"):
        return {"accuracy": prediction.predictions.argmax(-1) == prediction.labels}
    return {"accuracy": float((prediction.predictions.argmax(-1) == prediction.label_ids).mean())}


class Reporter(TrainerCallback):
    def on_step_end(self, args, state, control, **kwargs):
        if sick("killed", state.global_step):
            os.kill(os.getpid(), signal.SIGKILL)
        if sick("sync_wandb", state.global_step):
            self.sync_offline_run()

    def sync_offline_run(self):
        time.sleep(3600)


def main():
    arguments = TrainingArguments(
        output_dir="output", num_train_epochs=float(os.environ.get("EPOCHS", "2")), per_device_train_batch_size=4, use_cpu=True, logging_steps=2,
        eval_strategy="epoch", save_strategy="epoch", load_best_model_at_end=True, metric_for_best_model="accuracy", report_to=[], ddp_backend="gloo",
        ddp_timeout=20, disable_tqdm=bool(os.environ.get("NO_BARS")), save_total_limit=1)
    callbacks = [Reporter()] + ([EarlyStoppingCallback(1)] if os.environ.get("EARLY") else [])
    trainer = Trainer(model=Tiny(TinyConfig()), args=arguments, train_dataset=Texts(48), eval_dataset=Texts(24), data_collator=collate,
                      compute_metrics=metrics, callbacks=callbacks)
    trainer.train()
    if own_rank() == 0:
        print(trainer.evaluate())
    else:
        trainer.evaluate()
    if torch.distributed.is_initialized():
        torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main()
