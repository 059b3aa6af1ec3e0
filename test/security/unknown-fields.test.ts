import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openFuzzFixture } from '../server/fuzz-fixture.ts';
import { fetchDocument } from '../server/openapi-document.ts';
import type { OpenApiDocument } from '../server/openapi-document.ts';
import { wrongBodies } from './wrong-bodies.ts';
import type { WrongName } from './wrong-bodies.ts';

/** A request that is valid except for one field name, and the text that its error must contain. */
interface Attempt {
  readonly method: string;
  readonly address: string;
  readonly body?: unknown;
  readonly wrong: WrongName;
}

test('an unknown or misspelled field at any depth of any request is rejected by name', async () => {
  await using on = await openFuzzFixture();
  const document = await fetchDocument(on.url);
  const before = await readAll(on.url, on.ids);
  const attempts = attemptsFor(document, on.ids);
  for (const attempt of attempts) await assertRefused(on.url, attempt);
  assert.deepEqual(await readAll(on.url, on.ids), before, 'no data changed');
  const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
  const covered = new Set(
    attempts.map(({ method, address }) => `${method} ${address.split('?')[0]}`),
  );
  assert.ok(covered.size >= operations.length - 1, `${covered.size} of ${operations.length}`);
  assert.ok(attempts.length > 500, `${attempts.length}`);
});

test('the beta parameter and header of stock clients are ignored', async () => {
  await using on = await openFuzzFixture();
  const response = await fetch(`${on.url}/v1/agents?beta=true`, {
    headers: { 'anthropic-beta': 'managed-agents-2026-04-01,not-known-2031-01-01' },
  });
  assert.equal(response.status, 200);
});

function attemptsFor(
  { paths }: OpenApiDocument,
  ids: Readonly<Record<string, string>>,
): readonly Attempt[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([verb, operation]): readonly Attempt[] => {
      const address = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? 'none');
      const method = verb.toUpperCase();
      const schema = operation.requestBody?.content['application/json']?.schema;
      // A body that is no JSON has no fields.
      if (operation.requestBody !== undefined && schema === undefined) return [];
      const names = (operation.parameters ?? [])
        .filter((one) => one.in === 'query')
        .map(({ name }) => name.replace('[]', ''));
      const queries = wrongBodies({ type: 'object', properties: namesOnly(names) }, 'query');
      const bodies =
        method === 'POST' ? wrongBodies(schema ?? { type: 'object', properties: {} }, 'body') : [];
      return [
        ...queries.map(({ wrong, name }) => ({ method, address: `${address}?${name}=1`, wrong })),
        ...bodies.map(({ wrong, body }) => ({ method, address, body, wrong })),
      ];
    }),
  );
}

function namesOnly(names: readonly string[]): Readonly<Record<string, object>> {
  return Object.fromEntries(names.map((name) => [name, {}]));
}

async function assertRefused(
  url: string,
  { method, address, body, wrong }: Attempt,
): Promise<void> {
  const response = await fetch(`${url}${address}`, {
    method,
    ...(body !== undefined && {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    }),
  });
  const text = await response.text();
  const what = `${method} ${address} ${JSON.stringify(body)?.slice(0, 300)}: ${response.status} ${text.slice(0, 300)}`;
  assert.equal(response.status, 400, what);
  const { error } = JSON.parse(text) as { readonly error: { readonly message: string } };
  assert.ok(error.message.startsWith(`${wrong.path}: is unknown`), `${wrong.path}: ${what}`);
  if (wrong.suggestion !== undefined)
    assert.ok(
      error.message.includes(`Did you mean \`${wrong.suggestion}\`?`),
      `${wrong.suggestion}: ${what}`,
    );
}

/** Everything that the server shows of its stored data. */
async function readAll(
  url: string,
  { session_id = '', agent_id = '' }: Readonly<Record<string, string>>,
): Promise<readonly unknown[]> {
  const shown: unknown[] = [];
  for (const path of [
    '/v1/agents?include_archived=true',
    '/v1/environments?include_archived=true',
    '/v1/sessions?include_archived=true',
    '/v1/webhooks',
    `/v1/agents/${agent_id}/versions`,
    `/v1/sessions/${session_id}/events?limit=1000`,
  ])
    shown.push(await (await fetch(`${url}${path}`)).json());
  return shown;
}
