// SPDX-License-Identifier: MIT
// How the types are used: one function calls every operation, and the compiler knows its parameters and its answer. It runs in
// browsers, and with Node.js 18 or later.
import type { Operations, Problem } from './blurd'

export class BlurdError extends Error {
  constructor(readonly problem: Problem) {
    super(`${problem.title}: ${problem.detail}`)
  }
}

// `await call(url, 'blur', file, { sigma: 8 })` is a Blob, `await call(url, 'stats', file)` are numbers.
export async function call<Name extends keyof Operations>(
  url: string,
  name: Name,
  picture: Blob,
  parameters: Operations[Name]['parameters'],
): Promise<Operations[Name]['answer']> {
  const form = new FormData()
  form.append('image', picture, 'picture')
  for (const [key, value] of Object.entries(parameters as object))
    if (key == 'regions') form.append(key, JSON.stringify(value))
    else if (value instanceof Blob) form.append(key, value, key)
    else for (const one of Array.isArray(value) ? value : [value]) form.append(key, String(one))
  const accept = name == 'redact_report' ? 'application/json' : '*/*'
  for (let attempt = 0; ; attempt++) {
    const answer = await fetch(`${url}/${name.split('_')[0]}`, { method: 'POST', body: form, headers: { Accept: accept } })
    if (answer.status == 503 && attempt < 5) {
      const seconds = Number(answer.headers.get('Retry-After') ?? 1) // overloaded: later
      await new Promise(resolve => setTimeout(resolve, 1000 * seconds))
      continue
    }
    if (!answer.ok) throw new BlurdError(await answer.json() as Problem)
    return answer.headers.get('Content-Type') == 'application/json' ? await answer.json() : await answer.blob()
  }
}
