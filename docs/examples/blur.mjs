// SPDX-License-Identifier: MIT
// node blur.mjs PHOTO RESULT [SIGMA]     blurs a picture; BLURD_URL names the daemon. Node 18 or later, nothing to install.
import { readFile, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

const url = process.env.BLURD_URL ?? 'http://localhost:8080';

async function blur(picture, sigma) {
  let answer;
  for (let attempt = 0; attempt < 6; attempt++) {
    answer = await fetch(`${url}/blur?${new URLSearchParams({ sigma })}`, { method: 'POST', body: picture });
    if (answer.status !== 503) break;
    await sleep(1000 * Number(answer.headers.get('Retry-After') ?? 1)); // overloaded: later
  }
  if (!answer.ok) {
    const problem = await answer.json();
    throw new Error(`${problem.title}: ${problem.detail} (request ${problem.request_id})`);
  }
  return Buffer.from(await answer.arrayBuffer());
}

const [photo, result, sigma = '8'] = process.argv.slice(2);
try {
  await writeFile(result, await blur(await readFile(photo), sigma));
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
