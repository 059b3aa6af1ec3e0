import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createClient } from '../../src/client/index.ts';
import type { Client } from '../../src/client/index.ts';
import type { QuotaStatus } from '../../src/core/index.ts';
import { SimulatedClock, systemClock } from '../../src/net/index.ts';
import { Metrics } from '../../src/server/index.ts';
import { MemoryStore } from '../../src/store/index.ts';
import { countingTool, openServerFixture } from './server-fixture.ts';
import { scriptedChat } from './scripted-chat.ts';

/** Every line with a number, by its name and labels. */
async function readNumbers(url: string): Promise<ReadonlyMap<string, number>> {
  const response = await fetch(`${url}/metrics`);
  assert.match(response.headers.get('content-type') ?? '', /^text\/plain; version=0\.0\.4/);
  const numbers = new Map<string, number>();
  for (const line of (await response.text()).split('\n')) {
    if (line === '' || /^# (?:HELP|TYPE) petrichor_\w+ \S/.test(line)) continue;
    const [, name = '', value = ''] = /^(petrichor_\w+(?:\{[^}]*\})?) (\S+)$/.exec(line) ?? [];
    assert.ok(name !== '' && Number.isFinite(Number(value)), line);
    numbers.set(name, Number(value));
  }
  return numbers;
}

async function untilIdle(client: Client, id: string): Promise<void> {
  for await (const event of client.sessions.events(id))
    if (event.type === 'session.status_idle') return;
}

test('the metrics count turns, tool calls, sessions, commits, requests and stream readers', async () => {
  const metrics = new Metrics(systemClock);
  await using on = await openServerFixture(scriptedChat, {
    tools: [countingTool('deploy')],
    observers: [metrics.observe],
    server: { metrics },
  });
  const client = createClient({ baseUrl: on.url });
  const tools = [{ type: 'builtin', name: 'deploy' }] as const;
  const { id: agent } = await client.agents.create({ name: 'A', model: 'gemini-2.5-flash', tools });
  const [one, two] = [
    await client.sessions.create({ agent }),
    await client.sessions.create({ agent }),
  ];
  await client.sessions.send(one.id, 'call deploy a and nowhere b');
  await untilIdle(client, one.id);
  const log = await on.log(one.id);
  const reading = new AbortController();
  const stream = await fetch(`${on.url}/v1/sessions/${two.id}/events/stream`, {
    signal: reading.signal,
  });
  // The server learns through two sockets that the previous reader disconnected.
  await waitForReaders(on.url, 1);
  const numbers = await readNumbers(on.url);
  assert.equal(numbers.get('petrichor_turns_total{reason="end_turn"}'), 1);
  assert.equal(numbers.get('petrichor_tool_calls_total{outcome="ok"}'), 1);
  assert.equal(numbers.get('petrichor_tool_calls_total{outcome="not_found"}'), 1);
  assert.equal(numbers.get('petrichor_sessions{status="idle"}'), 1);
  assert.equal(numbers.get('petrichor_sessions{status="queued"}'), 1);
  const commits = numbers.get('petrichor_commits_total') ?? 0;
  assert.ok(commits > 3 && commits <= log.length, `${commits}`);
  assert.equal(numbers.get('petrichor_commit_seconds_count'), commits);
  assert.equal(numbers.get('petrichor_commit_seconds_bucket{le="+Inf"}'), commits);
  assert.ok((numbers.get('petrichor_firings_total') ?? 0) > 5);
  assert.equal(numbers.get('petrichor_http_requests_total{method="POST",status="200"}'), 4);
  reading.abort();
  await stream.text().catch(() => {});
  await waitForReaders(on.url, 0);
});

test('the metrics have the highest used part of each quota, read again after ten seconds', async () => {
  const clock = new SimulatedClock(1_700_000_000_000);
  const metrics = new Metrics(clock);
  const store = new MemoryStore();
  const status = (scope: 'app' | 'user', used: number, limit: number): QuotaStatus => ({
    quota: 'storageBytes',
    scope,
    limit,
    used,
  });
  let reads = 0;
  const read = async (): Promise<string> =>
    (
      await metrics.text(store, async () => {
        reads++;
        return [
          status('user', 3, 10),
          status('user', 9, 10),
          status('user', 1, 0),
          status('app', 1, 4),
        ];
      })
    )
      .split('\n')
      .filter((line) => line.startsWith('petrichor_quota') || line.startsWith('petrichor_ret'))
      .join('\n');
  const quotas = [
    'petrichor_quota_used_ratio{quota="storage_bytes",scope="workspace"} 0.9',
    'petrichor_quota_used_ratio{quota="storage_bytes",scope="all_workspaces"} 0.25',
  ].join('\n');
  const none = ['petrichor_retention_sessions_total 0', 'petrichor_retention_timestamp_seconds 0'];
  assert.equal(await read(), [...none, quotas].join('\n'));
  await read();
  assert.equal(reads, 1);
  clock.advance(10_000);
  metrics.noteRetention();
  metrics.countRetained('failed');
  const retained = [
    'petrichor_retention_sessions_total{outcome="failed"} 1',
    'petrichor_retention_timestamp_seconds 1700000010',
  ];
  assert.equal(await read(), [...retained, quotas].join('\n'));
  assert.equal(reads, 2);
});

async function waitForReaders(url: string, count: number): Promise<void> {
  while ((await readNumbers(url)).get('petrichor_stream_readers') !== count) {
    // Poll until the count is reached. The timeout of the test ends an endless wait.
  }
}
