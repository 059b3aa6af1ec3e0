import { openRuntime } from 'petrichor';
import workflow from './workflow.ts';

const question = process.argv.slice(2).join(' ') || 'Is invoice 7 paid?';
const runtime = await openRuntime({ agents: [workflow], store: 'sqlite:petrichor.db' });
const session = await runtime.session('main');
console.log(await session.ask(question));
await runtime.close();
