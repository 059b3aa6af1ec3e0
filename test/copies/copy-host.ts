// Copies a store until it is killed: it stops at an item, says so, and waits. Arguments: what, store, file, item.
import { importSession, restoreBackup, writeBackup } from '../../src/runtime/index.ts';
import { openStore } from '../../src/store/index.ts';
import type { Store, StoreItem } from '../../src/store/index.ts';

const [what = '', url = '', file = '', at = '0'] = process.argv.slice(2);

async function* stopAt(
  items: AsyncIterable<StoreItem>,
): AsyncGenerator<StoreItem, void, undefined> {
  let item = 0;
  for await (const one of items) {
    if (item++ === Number(at)) await stop();
    yield one;
  }
  await stop();
}

/** Until the process is killed. */
async function stop(): Promise<never> {
  process.stdout.write('stopped\n');
  setInterval(() => {}, 1000);
  return new Promise(() => {});
}

const opened = await openStore(url);
const store: Store = Object.create(opened, {
  find: { value: opened.find.bind(opened) },
  document: { value: opened.document.bind(opened) },
  exportItems: { value: (selection?: object) => stopAt(opened.exportItems(selection)) },
  importItems: {
    value: async (items: AsyncIterable<StoreItem>, options?: object) =>
      opened.importItems(stopAt(items), options),
  },
});
if (what === 'backup') await writeBackup(store, file);
else if (what === 'import') await importSession(file, store);
else await restoreBackup(file, store);
