/** Runs the shop agent until it waits for a person, reports that, and stays until it is killed. */
import { openRuntime } from '../../src/runtime/index.ts';
import { openShop } from './shop-agent.ts';

const [store = '', url = ''] = process.argv.slice(2);
const { agent } = await openShop(url);
const runtime = await openRuntime({ agents: [agent], store });
const session = await runtime.session('x');
for await (const event of session.send('A shirt, please.')) {
  if (event.type === 'turn.waiting') console.log('waiting');
}
setInterval(() => undefined, 1000);
