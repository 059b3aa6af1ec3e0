import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { restoreBackup, writeBackup } from '../../src/runtime/index.ts';
import { openStore } from '../../src/store/index.ts';
import type { StoreItem } from '../../src/store/index.ts';
import { CommandFolder } from '../cli/command-folder.ts';
import { NO_SERVER, startMysqlServer } from '../mysql/mysql-server.ts';
import { startPostgresServer } from '../postgres/postgres-server.ts';
import { pickSample } from '../sample-seed.ts';
import { killAt } from './kill-at.ts';
import { openNoter } from './loaded-store.ts';

const servers = {
  PostgreSQL: await startPostgresServer(),
  MySQL: await startMysqlServer(),
};
after(async () => {
  for (const server of Object.values(servers)) await server?.stop();
});

for (const [name, server] of Object.entries(servers))
  test(
    `a restore into ${name} that is killed at any item leaves nothing, and can be repeated`,
    { skip: server === undefined ? NO_SERVER : false },
    async () => {
      const url = server?.url ?? assert.fail();
      const folder = new CommandFolder();
      const at = (file: string): string => join(folder.path, file);
      {
        await using runtime = await openNoter(at('source.db'), []);
        await (await runtime.session('one')).ask('first');
        for await (const _ of (await runtime.session('waits')).send('ask'));
      }
      const source = await openStore(at('source.db'));
      await writeBackup(source, at('backup.jsonl'));
      const items = await collect(source.exportItems());
      await source.close();
      // After the last item, too: everything is written, and not committed.
      const places = [items.length, 1 + pickSample(items.length - 1, `killed restore ${name}`)];
      for (const place of places) {
        await killAt('restore', url, at('backup.jsonl'), place);
        const store = await openStore(url);
        assert.deepEqual(await collect(store.exportItems()), []);
        await store.close();
      }
      const store = await openStore(url);
      await restoreBackup(at('backup.jsonl'), store);
      assert.deepEqual(await collect(store.exportItems()), items);
      await store.close();
    },
  );

async function collect(items: AsyncIterable<StoreItem>): Promise<readonly StoreItem[]> {
  const collected: StoreItem[] = [];
  for await (const item of items) collected.push(item);
  return collected;
}
