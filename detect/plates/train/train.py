# SPDX-License-Identifier: MIT
"""Trains the layers that find plates, and writes detect/plates/plates.head and detect/plates/plates.scales.

    detect/plates/train/train.py DATA FONTS MODEL.onnx OUTPUT [--steps N | --seconds N] [--batch N] [--seed N] [--workers N]

DATA is what gather.py makes; FONTS a folder of TrueType fonts; MODEL.onnx the text detector of the wheel in detect/models.txt.
Drawing pictures takes longer than a step, so each batch is used twice, the second time made smaller. With --seconds training ends
then, however many steps that are."""

import argparse
import math
import pathlib
import time

import torch
import torch.nn.functional as F

import body
import convert
import export
import head
import pictures

FLOATING = 0.7  # of all steps: then weights and outputs are rounded
WATCHED = 0.05  # of all steps, before that: the largest outputs are measured
WARM = 0.03  # of all steps
SMALLER = 384, 448, 512, 576  # sides of a batch that is used again
BORDER = 16  # pixels of the mirror image around each batch, as around a picture that is searched
KEPT = 300  # seconds between copies of the weights
NEGATIVES = 3  # times the cells of plates: the worst cells without one that count
NEGATIVES_LEAST = 500  # of a picture


def loss_of(logits, target, weight):
    """Cross entropy of all cells of plates and of the worst of the others, and the overlap of both areas (Milletari, Navab, Ahmadi,
    2016)."""
    logits = logits[:, 0].float()
    each = F.binary_cross_entropy_with_logits(logits, target, reduction='none')
    positive = (target * weight * each).sum() / (target * weight).sum().clamp_min(1)
    others = (each * (weight > 0) * (1 - target)).flatten()
    count = int(min(NEGATIVES * float(target.sum()) + NEGATIVES_LEAST * len(target), others.numel() // 4))
    negative = others.topk(count).values.mean()
    probability, counts = logits.sigmoid(), (weight > 0).float()
    both = (probability * target * counts).sum()
    overlap = 2 * both / ((probability * counts).sum() + (target * counts).sum() + 1)
    return positive + 2 * negative + 1 - overlap, (positive, negative, overlap)


def changed(batch):
    """Light and colours of each picture as another camera has them."""
    count = len(batch)
    draw = lambda low, high: torch.empty(count, 1, 1, 1, device=batch.device).uniform_(low, high)
    values = batch / 255
    gains = torch.empty(count, 3, 1, 1, device=batch.device).normal_(0, 0.15).exp()
    values = values * torch.where(draw(0, 1) < 0.7, gains, torch.ones_like(gains))
    grey = values.mean(1, keepdim=True)
    values = torch.where(draw(0, 1) < 0.5, grey + (values - grey) * draw(0, 1.3), values)
    values = values.clamp(0, 1) ** draw(-0.5, 0.5).exp()
    return ((values - 0.5) * draw(0.7, 1.2) + 0.5 + draw(-0.08, 0.08)).clamp(0, 1).mul(255).round()


def rate(part, most):
    """Rises, then falls as half a cosine; `part` of the training is over."""
    if part < WARM:
        return most * (part / WARM + 0.01)
    return most * (0.5 + 0.5 * math.cos(math.pi * min((part - WARM) / (1 - WARM), 1)) + 0.004)


def mirrored(values, by):
    """With a border: plates that the edge cuts are found as their mirrored whole."""
    flat = values if values.dim() == 4 else values[:, None]
    padded = F.pad(flat, (by, by, by, by), mode='reflect')
    return padded if values.dim() == 4 else padded[:, 0]


def twice(batches, device):
    """Each batch, and then once more made smaller."""
    for batch, target, weight in batches:
        batch, target, weight = (part.to(device, non_blocking=True) for part in (batch, target, weight))
        batch = batch.permute(0, 3, 1, 2).float()
        yield mirrored(batch, BORDER), mirrored(target, BORDER // 2), mirrored(weight, BORDER // 2)
        side = SMALLER[int(torch.randint(len(SMALLER), ()))]
        share = F.interpolate(target[:, None], (side // 2, side // 2), mode='area')[:, 0]
        counts = F.interpolate(weight[:, None], (side // 2, side // 2), mode='nearest')[:, 0]
        counts = counts * ((share < 0.05) | (share > 0.6))
        yield F.interpolate(batch, (side, side), mode='bilinear', antialias=True).round(), (share > 0.6).float(), counts


def begin_rounding(net):
    net.watches, net.rounds = False, True
    for layer in net.layers.values():
        if layer.norm is not None:
            layer.norm.eval()


def step_of(net, seen, optimiser, inputs, target, weight):
    with torch.no_grad():
        outputs = {index: values.float() if net.rounds else values for index, values in seen(inputs).items()}
    with torch.autocast('cuda', torch.bfloat16, enabled=not net.rounds and inputs.is_cuda):
        logits = net(outputs)
    loss, parts = loss_of(logits, target, weight)
    optimiser.zero_grad(set_to_none=True)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(net.parameters(), 5.0)
    optimiser.step()
    return torch.stack([part.detach() for part in parts])


def train(net, seen, loader, options, save):
    device = next(net.parameters()).device
    optimiser = torch.optim.AdamW(net.parameters(), lr=options.rate, weight_decay=1e-3)
    began, kept, sums = time.time(), time.time(), []
    for step, (batch, target, weight) in enumerate(twice(loader, device)):
        part = (time.time() - began) / options.seconds if options.seconds else step / options.steps
        if part >= 1:
            break
        if part >= FLOATING and not net.rounds:
            begin_rounding(net)
        net.watches = FLOATING - WATCHED <= part < FLOATING
        for group in optimiser.param_groups:
            group['lr'] = rate(part, options.rate)
        sums.append(step_of(net, seen, optimiser, changed(batch), target, weight))
        if (step + 1) % 200 == 0:
            mean = torch.stack(sums).mean(0).tolist()
            sums.clear()
            print(f'{step + 1} {time.time() - began:.0f} s: plates {mean[0]:.4f} others {mean[1]:.4f} overlap {mean[2]:.4f}', flush=True)
        if time.time() - kept > KEPT:
            kept = time.time()
            save()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ('data', 'fonts', 'onnx', 'output'):
        parser.add_argument(name)
    parser.add_argument('--steps', type=int, default=5000)
    parser.add_argument('--seconds', type=float, default=0)
    parser.add_argument('--batch', type=int, default=32)
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--workers', type=int, default=16)
    parser.add_argument('--rate', type=float, default=2e-3)
    options = parser.parse_args()
    torch.manual_seed(options.seed)
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True
    device = 'cuda' if torch.cuda.is_available() else 'cpu'
    scales = str(body.DETECT / 'text' / 'ppocr.scales')
    net = head.Head(convert.read_scales([scales], body.network.layers('text'))).to(device)
    seen = body.Body(options.onnx, scales, net.reads, device, torch.float16 if device == 'cuda' else torch.float32)
    loader = torch.utils.data.DataLoader(pictures.Pictures(options.data, options.fonts, options.seed), batch_size=options.batch,
                                         num_workers=options.workers, pin_memory=device == 'cuda', prefetch_factor=4 if options.workers else None)
    output = pathlib.Path(options.output)
    save = lambda: torch.save(net.state_dict(), output / 'plates.pt')
    train(net, seen, loader, options, save)
    save()
    export.write(net, output)


if __name__ == '__main__':
    main()
