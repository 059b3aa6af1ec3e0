/** Opens what a console opens on its list of sessions, many times: `node bench/open-consoles.ts URL COUNT`. */
import { createClient } from '../../src/client/index.ts';

const [baseUrl = '', count = '1'] = process.argv.slice(2);
const opened = Array.from({ length: Number(count) }, async () => {
  const client = createClient({ baseUrl });
  for await (const _session of client.sessions.list({ limit: 1000, include_archived: true }));
  const current = Promise.withResolvers<undefined>();
  const follow = async (changes: AsyncIterable<unknown>): Promise<void> => {
    for await (const _change of changes) current.resolve(undefined);
  };
  const streams = [client.sessions.changes(), client.pending.watch()].map(follow);
  Promise.all(streams).catch((error: unknown) => current.reject(error));
  await current.promise;
});
await Promise.all(opened);
process.stdout.write('open\n');
