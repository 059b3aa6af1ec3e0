/** Makes one call of a store, and ends. Arguments: the URL, the schema, and the id of the session. */
import { sessionKey } from '../../src/store/contract/sample-steps.ts';
import { openPostgresStore } from '../../src/store/postgres/open-postgres-store.ts';

const [, , url = '', schema = '', session = ''] = process.argv;
let isOpen = false;
const store = await openPostgresStore(url, {
  schema,
  onStatement: () => void (isOpen && process.stdout.write('statement\n')),
});
isOpen = true;
await store.touch(sessionKey(session));
await store.close();
