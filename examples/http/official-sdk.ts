import Anthropic from '@anthropic-ai/sdk';

const client = new Anthropic({ baseURL: 'http://127.0.0.1:8787', apiKey: 'none' });
const { id: environment_id } = await client.beta.environments.create({ name: 'here' });
const session = await client.beta.sessions.create({ agent: 'agent_greeter', environment_id });
const events = await client.beta.sessions.events.stream(session.id);
await client.beta.sessions.events.send(session.id, {
  events: [{ type: 'user.message', content: [{ type: 'text', text: 'Good day!' }] }],
});
for await (const event of events) {
  if (event.type === 'agent.message') console.log(event.content);
  if (event.type === 'session.status_idle') break;
}
