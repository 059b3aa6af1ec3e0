import { agent } from '../../src/agents/index.ts';
import { contentText } from '../../src/core/index.ts';
import { ScriptedModel } from '../../src/models/index.ts';
import { openRuntime } from '../../src/runtime/index.ts';
import { openPostgresStore } from '../../src/store/postgres/open-postgres-store.ts';
import { tool } from '../../src/tools/index.ts';

/** What a client sends: a message, or the id of a call that it approves. */
export interface InvocationRequest {
  readonly session: string;
  readonly messageId?: string;
  readonly message?: string;
  readonly approve?: string;
}

export interface InvocationReply {
  readonly text: string;
  readonly waiting: readonly { readonly id: string; readonly name: string }[];
}

export interface Invocation {
  readonly url: string;
  readonly request: InvocationRequest;
  /** What the tool `look` does. Default: nothing. */
  readonly onLook?: () => Promise<void>;
  readonly onStatement?: (text: string) => void;
}

const parameters = { type: 'object', properties: {} } as const;

/** Runs one request from a cold start to rest, as a function of a serverless platform does, and leaves nothing open. */
export async function invoke({
  url,
  request,
  onLook,
  onStatement = () => {},
}: Invocation): Promise<InvocationReply> {
  const model = new ScriptedModel(({ contents }) => {
    const last = contents.at(-1);
    const said = contentText(last);
    if (said === 'look' || said === 'pay') return { toolCalls: [{ name: said }] };
    return { text: `${contents.length} contents` };
  });
  const look = tool({
    name: 'look',
    description: 'Looks.',
    parameters,
    readOnly: true,
    execute: async () => {
      await onLook?.();
      return { seen: true };
    },
  });
  const pay = tool({
    name: 'pay',
    description: 'Pays.',
    parameters,
    needsApproval: true,
    execute: () => ({ paid: true }),
  });
  const store = await openPostgresStore(url, {
    maxConnections: 2,
    absenceMs: 100,
    restartAbsenceMs: 100,
    onStatement,
  });
  try {
    await using runtime = await openRuntime({
      agents: [agent({ name: 'clerk', model, tools: [look, pay] })],
      store,
    });
    const { message = '', messageId, approve } = request;
    const session = await runtime.session(request.session);
    const turn =
      approve === undefined
        ? session.send(message, messageId === undefined ? {} : { messageId })
        : session.approve(approve);
    let text = '';
    for await (const event of turn)
      if (event.type === 'agent.message') text = contentText(event.content);
    const waiting = (await session.pending()).map(({ id, name }) => ({ id, name }));
    return { text, waiting };
  } finally {
    await store.close();
  }
}
