import type { FakeAnswer } from '../artifacts/fake-server.ts';

/** An error as Google's APIs write it. */
export function failure(status: number, name: string): FakeAnswer {
  return json(status, {
    error: { code: status, message: `The fake says ${status}.`, status: name },
  });
}

export function json(status: number, value: object): FakeAnswer {
  return {
    status,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(value),
  };
}
