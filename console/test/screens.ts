import type { Page } from 'playwright-core';
import { createClient } from '../../src/client/index.ts';
import type { Client } from '../../src/client/index.ts';
import type { ConsoleServer } from './console-server.ts';

/**
 * The screens of the console: a name, and the path below the mount. `SESSION` stands for the id of a session, `FORK`
 * for that of a fork of it, `PROOF` for that of a proof.
 */
export const SCREENS: readonly (readonly [name: string, path: string])[] = [
  ['sessions', 'sessions'],
  ['session', 's/SESSION'],
  ['session-in-the-past', 's/SESSION?at=9'],
  ['inbox', 'inbox'],
  ['schedules', 'schedules/daily-report'],
  ['agents', 'agents'],
  ['traces', 'traces/SESSION?span=4'],
  ['compare', 'compare/SESSION/FORK?row=2'],
  ['proof', 'proofs/PROOF?result=never+1+in+turn.waiting&step=6'],
  ['usage', 'usage'],
  ['quotas', 'quotas?of=all'],
  ['file', 'file'],
  ['settings', 'settings'],
];

/** Opens the demonstration: a session that waits for an approval, and a fork in which something else was said. */
export async function prepareScreens(
  { url, runtime }: ConsoleServer,
  id: string,
): Promise<(path: string) => string> {
  const session = await runtime.session(id, { user: 'default' });
  await session.ask('Book a flight to Berlin').catch(() => undefined);
  const client = createClient({ baseUrl: url });
  const fork = await client.sessions.fork(id, { atRecord: 9 });
  await client.sessions.update(fork.id, { title: `${id}, another way` });
  await client.sessions.ask(fork.id, 'I want a refund instead');
  const proof = await proveTravel(url);
  await createSchedules(client);
  return (path) => path.replace('SESSION', id).replace('FORK', fork.id).replace('PROOF', proof);
}

/** Creates one schedule that has run, and one that is paused. */
async function createSchedules({ schedules }: Client): Promise<void> {
  await schedules.create({
    id: 'daily-report',
    agent: 'agent_travel',
    message: 'Hello! Which flights are booked for today?',
    cron: '0 9 * * 1-5',
    time_zone: 'Europe/Berlin',
  });
  await schedules.run('daily-report');
  await schedules.create({
    id: 'price-check',
    agent: 'agent_travel',
    message: 'Hello! Has a price changed?',
    every_ms: 900_000,
    session_id: 'prices',
    overlap: 'queue',
  });
  await schedules.pause('price-check');
}

/** Proves one property, and refutes another. Returns the id of the proof. */
async function proveTravel(url: string): Promise<string> {
  const response = await fetch(`${url}/v1/proofs`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      agent_id: 'agent_travel',
      properties: ['oneTurn', 'unreachable(turn.waiting)'],
      bounds: { at_once: 1, faults: 0 },
    }),
  });
  const { id }: { readonly id: string } = Object(await response.json());
  const stream = await fetch(`${url}/v1/proofs/${id}/stream`);
  // It ends with the proof.
  await stream.text();
  return id;
}

/** Opens a screen, and waits until what it reads has arrived. */
export async function openScreen(page: Page, url: string, path: string): Promise<void> {
  await page.goto(`${url}/console/${path}`);
  await page.locator('main h1').first().waitFor();
  await page.locator('.loading').first().waitFor({ state: 'detached' });
  if (path.startsWith('s/') && (page.viewportSize()?.width ?? 0) > 1000)
    await page.locator('.net-box svg').first().waitFor();
}
