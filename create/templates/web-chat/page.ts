/** The page: it follows one session, and shows what it says and which calls wait. */
import { createClient, type SessionEvent, type StreamedEvent } from 'petrichor/client';

const client = createClient({ baseUrl: location.origin });
const log = find('log');
const form = find('form') as HTMLFormElement;
const input = find('input') as HTMLInputElement;

const session = await openSession();
form.addEventListener('submit', (event) => {
  event.preventDefault();
  void client.sessions.send(session, input.value);
  form.reset();
});

// Every event once and in order, also after a lost connection, a reload of the page or a restart of the server.
const previews = ['agent.message'];
for await (const event of client.sessions.events(session, { after: 0, previews })) show(event);

/** The session of this tab's address: reload the page and it continues. */
async function openSession(): Promise<string> {
  const known = location.hash.slice(1);
  if (known !== '') return known;
  const { id } = await client.sessions.create({ agent: 'agent_shop' });
  location.hash = id;
  return id;
}

function show(event: StreamedEvent): void {
  switch (event.type) {
    case 'event_start':
      line(event.event.id, 'agent');
      break;
    case 'event_delta':
      line(event.event_id, 'agent').textContent += event.delta.content.text;
      break;
    case 'user.message':
      line(event.id, 'user').textContent = textOf(event);
      break;
    case 'agent.message':
      line(event.id, 'agent').textContent = textOf(event);
      break;
    case 'agent.tool_use':
      line(event.id, 'call').textContent = `${event.name} ${JSON.stringify(event.input)}`;
      break;
    case 'session.status_idle':
      if (event.stop_reason.type === 'requires_action')
        for (const id of event.stop_reason.event_ids) offerDecision(id);
      break;
    case 'user.tool_confirmation':
      find(event.tool_use_id).querySelector('span')?.replaceChildren(` ${event.result}`);
      break;
    case 'session.error':
      line(event.id, 'error').textContent = event.error.message;
      break;
  }
}

function offerDecision(call: string): void {
  const buttons = document.createElement('span');
  for (const [label, decide] of [
    ['Approve', () => client.sessions.approve(session, call)],
    ['Deny', () => client.sessions.deny(session, call)],
  ] as const) {
    const button = document.createElement('button');
    button.textContent = label;
    button.addEventListener('click', () => void decide());
    buttons.append(' ', button);
  }
  find(call).append(buttons);
}

function textOf({ content }: Extract<SessionEvent, { type: 'user.message' | 'agent.message' }>) {
  return content.map((block) => (block.type === 'text' ? block.text : `[${block.type}]`)).join('');
}

function line(id: string, kind: string): HTMLElement {
  const existing = document.getElementById(id);
  if (existing !== null) return existing;
  const made = document.createElement('p');
  made.id = id;
  made.className = kind;
  log.append(made);
  made.scrollIntoView();
  return made;
}

function find(id: string): HTMLElement {
  const element = document.getElementById(id);
  if (element === null) throw new Error(`The page has no element ${id}.`);
  return element;
}
