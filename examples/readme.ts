import { agent, contentText, openRuntime } from 'petrichor';
import { ScriptedModel } from 'petrichor/testing';

// ScriptedModel needs no API key. For a real model: await resolveModel('gpt-5', { env: process.env })
const model = new ScriptedModel(() => ({ text: 'Hello! How can I help?' }));
const assistant = agent({ name: 'assistant', model, instruction: 'Be brief.' });
const runtime = await openRuntime({ agents: [assistant], store: 'sqlite:petrichor.db' });
const session = await runtime.session('demo'); // creates the session, or reopens the stored one
for await (const event of session.send('Hello!')) {
  if ('seq' in event) console.log(`${event.seq} ${event.type}`); // the numbers continue in the next run
  if (event.type === 'agent.message') console.log(contentText(event.content));
}
await runtime.close();
