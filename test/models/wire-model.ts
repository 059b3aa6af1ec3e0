import { ModelError, resolveModel } from '../../src/models/index.ts';
import type {
  Model,
  ModelDelta,
  ModelRef,
  ModelRequest,
  ModelResponse,
} from '../../src/models/index.ts';
import type { WireFormat } from './wire/wire-format.ts';
import { openWireServer, wireEnv, type WireServer } from './wire/wire-server.ts';
import type { WireTurn } from './wire/wire-turn.ts';

/** A resolved model that sends real HTTP requests, with the server that receives them. */
export interface WireModel extends AsyncDisposable {
  readonly model: Model;
  readonly server: WireServer;
}

export async function openWireModel(
  format: WireFormat,
  turns: readonly WireTurn[],
  ref: (baseUrl: string) => ModelRef = format.ref,
): Promise<WireModel> {
  const server = await openWireServer(format, turns);
  const env = wireEnv(format, server.baseUrl);
  return {
    server,
    model: await resolveModel(ref(server.baseUrl), { env }),
    [Symbol.asyncDispose]: async () => server[Symbol.asyncDispose](),
  };
}

export interface AskOptions extends Partial<ModelRequest> {
  readonly signal?: AbortSignal;
  readonly onDelta?: (delta: ModelDelta) => void;
}

export async function ask(model: Model, options: AskOptions = {}): Promise<ModelResponse> {
  const { signal = new AbortController().signal, onDelta = () => undefined, ...request } = options;
  const contents = [{ role: 'user' as const, parts: [{ text: 'Hi' }] }];
  return model.generate(
    { contents, tools: [], ...request },
    { signal, onDelta, firingId: 'firing-1', attempt: 1 },
  );
}

/** The error of a call that must fail. */
export async function getError(model: Model, options: AskOptions = {}): Promise<ModelError> {
  try {
    await ask(model, options);
  } catch (error) {
    if (error instanceof ModelError) return error;
    throw error;
  }
  throw new Error('It answered.');
}
