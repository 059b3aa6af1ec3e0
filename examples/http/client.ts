import { createClient } from 'petrichor/client';

const client = createClient({ baseUrl: 'http://127.0.0.1:8787' });
const session = await client.sessions.create({ agent: 'agent_greeter' });
await client.sessions.send(session.id, 'Good day!');
for await (const event of client.sessions.events(session.id)) {
  if (event.type === 'agent.message') console.log(event.content);
  if (event.type === 'session.status_idle') break;
}
