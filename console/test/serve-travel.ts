/** Serves the agent of the tests with the console: `node test/serve-travel.ts STORE PORT`. It runs until it is killed. */
import { travel } from './agents.ts';
import { openConsoleServer } from './console-server.ts';

const [store = '', port = '0'] = process.argv.slice(2);
const { url } = await openConsoleServer({ agents: [travel], store, port: Number(port) });
process.stdout.write(`${url}\n`);
