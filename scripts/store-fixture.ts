/**
 * Makes the store that test/server/upgrade.test.ts begins with: a session of a server with two calls that wait
 * for a yes, as such a wait has no end. Run it
 * when the layout of stores has a new version, and commit the file beside those of the versions before. (store-v1.db
 * is from before there were servers: an agent of a runtime, with one call that waits.)
 *
 *     node scripts/store-fixture.ts VERSION
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { openStore } from '../src/store/index.ts';
import { createClient } from '../src/client/index.ts';
import { countingTool, openServerFixture } from '../test/server/server-fixture.ts';
import { scriptedChat } from '../test/server/scripted-chat.ts';

const [, , version = ''] = process.argv;
if (!/^\d+$/.test(version))
  throw new Error('Which version of the layout is it? node scripts/store-fixture.ts 2');
const file = join(import.meta.dirname, '..', 'test', 'server', 'fixtures', `store-v${version}.db`);
rmSync(file, { force: true });
const store = await openStore(`sqlite:${file}`);
await using on = await openServerFixture(scriptedChat, {
  store,
  tools: [countingTool('bash')],
});
const client = createClient({ baseUrl: on.url });
const { id: agent } = await client.agents.create({
  name: 'Helper',
  model: 'gemini-2.5-flash',
  tools: [
    {
      type: 'agent_toolset_20260401',
      default_config: { enabled: false },
      configs: [{ name: 'bash', enabled: true, permission_policy: { type: 'always_ask' } }],
    },
  ],
});
const { id } = await client.sessions.create({ agent, title: 'Left behind' });
await client.sessions.send(id, 'call bash a and bash b');
for await (const event of client.sessions.events(id))
  if (event.type === 'session.status_idle') break;
console.log(`${file}: session ${id}`);
