"""An adapter on all linear layers, trained on answers alone (Hu et al. 2021, arXiv:2106.09685).

An interruption changes nothing: it goes on with the weights, the optimiser and the random numbers
of its last checkpoint, and the batches that follow.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from student_program.checkpoints import newest, restore, save, save_adapter
from student_program.given import Example, Given

SEED = 1
EPOCHS = 3
BATCH = 8
RATE = 2e-4
MOST_TOKENS = 2_048
EVERY_STEPS = 100
"""So often a checkpoint is written."""
_IGNORED = -100


@dataclass(frozen=True)
class _Tokens:
    ids: list[int]
    learned_from: int


def train(given: Given, *, model_dir: Path, checkpoints: Path) -> None:
    """Train, and write the adapter's two files.

    Args:
        given: the job's inputs.
        model_dir: where the files go.
        checkpoints: where it goes on from, if there is anything, and leaves off.
    """
    import torch
    from peft import LoraConfig, PeftModel, get_peft_model
    from transformers import AutoModelForCausalLM, AutoTokenizer

    torch.manual_seed(SEED)
    local: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}
    tokenizer = AutoTokenizer.from_pretrained(given.base, **local)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    dtype = torch.bfloat16 if device == "cuda" else torch.float32
    base = AutoModelForCausalLM.from_pretrained(
        given.base, torch_dtype=dtype, use_safetensors=True, **local
    )
    last = newest(checkpoints)
    if last is not None:
        model = PeftModel.from_pretrained(base, last.folder, is_trainable=True)
    else:
        config = LoraConfig(
            r=given.lora["r"],
            lora_alpha=given.lora["alpha"],
            target_modules="all-linear",
            task_type="CAUSAL_LM",
        )
        model = get_peft_model(base, config)
    model.to(device).train()
    rows = [_tokens(tokenizer, example) for example in given.examples()]
    batches = _batches(rows, tokenizer)
    optimizer = torch.optim.AdamW((one for one in model.parameters() if one.requires_grad), lr=RATE)
    done = 0
    if last is not None:
        restore(last.folder, model=model, optimizer=optimizer)
        done = last.step
    for at, (ids, mask, labels) in enumerate(batches[done:], done + 1):
        loss = model(
            input_ids=torch.tensor(ids, device=device),
            attention_mask=torch.tensor(mask, device=device),
            labels=torch.tensor(labels, device=device),
        ).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if at % EVERY_STEPS == 0:
            print(f"step={at} of={len(batches)} loss={loss.item():.4f}", flush=True)
            number = at // EVERY_STEPS
            save(checkpoints, number, step=at, model=model, optimizer=optimizer)
    save_adapter(model, model_dir)


def _tokens(tokenizer: Any, example: Example) -> _Tokens:
    """Return a question and its answer as tokens; of too many, those at the beginning go."""
    messages = [
        {"role": "system", "content": example.system},
        {"role": "user", "content": example.user},
    ]
    if tokenizer.chat_template:
        asked = tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
    else:
        asked = f"{example.system}\n\n{example.user}\n"
    question = tokenizer(asked, add_special_tokens=False)["input_ids"]
    answer = tokenizer(example.answer, add_special_tokens=False)["input_ids"]
    answer = [*answer, tokenizer.eos_token_id][-MOST_TOKENS:]
    question = question[max(0, len(question) + len(answer) - MOST_TOKENS) :]
    return _Tokens([*question, *answer], len(question))


Batch = tuple[list[list[int]], list[list[int]], list[list[int]]]


def _batches(rows: Sequence[_Tokens], tokenizer: Any) -> list[Batch]:
    """Return ids, masks and labels of all steps; each epoch has an order of its own."""
    chance, batches = random.Random(SEED), []
    padding = tokenizer.pad_token_id
    if padding is None:
        padding = tokenizer.eos_token_id
    for _ in range(EPOCHS):
        order = list(range(len(rows)))
        chance.shuffle(order)
        for at in range(0, len(order), BATCH):
            some = [rows[place] for place in order[at : at + BATCH]]
            longest = max(len(row.ids) for row in some)
            batches.append(_batch(some, longest, padding))
    return batches


def _batch(some: Sequence[_Tokens], longest: int, padding: int) -> Batch:
    ids, mask, labels = [], [], []
    for row in some:
        gap = longest - len(row.ids)
        ids.append([*row.ids, *[padding] * gap])
        mask.append([*[1] * len(row.ids), *[0] * gap])
        asked = row.learned_from
        labels.append([*[_IGNORED] * asked, *row.ids[asked:], *[_IGNORED] * gap])
    return ids, mask, labels
