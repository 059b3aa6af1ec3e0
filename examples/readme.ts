import { agent, openRuntime } from 'petrichor';
import { ScriptedModel } from 'petrichor/testing';

// ScriptedModel needs no API key. For a real model: model: 'gpt-5', with OPENAI_API_KEY set
const model = new ScriptedModel(() => ({ text: 'Hello! How can I help?' }));
const assistant = agent({ name: 'assistant', model, instruction: 'Be brief.' });
const runtime = await openRuntime({ agents: [assistant], store: 'sqlite:petrichor.db' });
const session = await runtime.session('demo'); // creates the session, or reopens the stored one
console.log(await session.ask('Hello!'));
const { lastSeq } = await session.status();
console.log(`The session has ${lastSeq} events.`); // grows with every run
await runtime.close();
