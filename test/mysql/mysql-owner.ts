// A process that owns a session with an effect in flight until it is killed. Arguments: URL and prefix.
import {
  commitOk,
  createSession,
  nextStep,
  summary,
} from '../../src/store/contract/sample-steps.ts';
import { openMysqlStore } from '../../src/store/mysql/open-mysql-store.ts';

const [, , url = '', schema = ''] = process.argv;
const store = await openMysqlStore(url, { schema });
await store.join('theirs');
const row = await createSession(store, 'theirs');
await commitOk(store, [nextStep(row, undefined, { summary: summary({ inFlight: 1 }) })]);
process.send?.('owns');
setInterval(() => undefined, 1000);
