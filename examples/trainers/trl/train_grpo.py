"""Train a model with TRL's GRPO on rewards from Autotune.

``python examples/trainers/trl/train_grpo.py --task task_… --model Qwen/Qwen3-0.6B
examples/data/arithmetic.jsonl`` trains on the file's prompts; ``metadata.answer`` of a line goes to
the grader with each completion.
"""

import argparse
import json
from pathlib import Path

from datasets import Dataset
from trl import GRPOConfig, GRPOTrainer

from autotune.integrations.trl import AsyncAutotuneReward


def prompts_of(file: Path) -> Dataset:
    """Return the file's prompts, each once, with the answer as a column."""
    with file.open() as lines:
        rows = [json.loads(line) for line in lines]
    answers = {row["prompt"]: row["metadata"]["answer"] for row in rows}
    return Dataset.from_dict({"prompt": list(answers), "answer": list(answers.values())})


def main() -> None:
    """Train, and print what had no score."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path, help="JSONL with prompt and metadata.answer")
    parser.add_argument("--task", required=True, help="the task that scores completions")
    parser.add_argument("--model", required=True, help="name or folder of a language model")
    parser.add_argument("--out", type=Path, default=Path("out/grpo"))
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--completion-length", type=int, default=256)
    parser.add_argument("--cpu", action="store_true", help="train without an accelerator")
    options = parser.parse_args()
    reward = AsyncAutotuneReward(task_id=options.task, model_id="grpo", metadata=["answer"])
    trainer = GRPOTrainer(
        model=options.model,
        reward_funcs=reward,
        train_dataset=prompts_of(options.file),
        args=GRPOConfig(
            output_dir=str(options.out),
            max_steps=options.steps,
            max_completion_length=options.completion_length,
            logging_steps=1,
            report_to="none",
            use_cpu=options.cpu,
            bf16=not options.cpu,
        ),
    )
    trainer.train()
    trainer.save_model()
    print(f"without a score: {reward.scorer.unscored or 'none'}")


if __name__ == "__main__":
    main()
