import { InvalidInputError } from '../../core/index.ts';
import { modelRequest, modelResponse } from '../../agents/index.ts';
import type { ModelPort } from '../../agents/index.ts';

/** An agent that speaks: where it asks its model, and where its answers go. */
export type Speaker = Pick<ModelPort, 'identity' | 'request' | 'response' | 'tools' | 'scoped'>;

/** The speaker of a session of one agent without callbacks. */
export function soleSpeaker(agentName: string, tools: Speaker['tools'] = new Map()): Speaker {
  return {
    identity: { agentName },
    request: modelRequest,
    response: modelResponse,
    tools,
    scoped: (place) => place,
  };
}

/** The speaker with this name. In a session of one agent the name is not stored. */
export function findSpeaker(speakers: readonly Speaker[], agent: string | undefined): Speaker {
  const [first] = speakers;
  const found = speakers.find(({ identity }) => identity.agentName === agent) ?? first;
  if (found === undefined) throw new InvalidInputError('speakers', 'must have an agent.');
  return found;
}

/** The key of an alternative for one speaker. A session of one agent has the plain key. */
export function speakerKey(key: string, speakers: readonly Speaker[], agent?: string): string {
  return speakers.length === 1 ? key : `${key}/${agent ?? speakers[0]?.identity.agentName ?? ''}`;
}

/** An alternative for each speaker. */
export function perSpeaker<T>(
  speakers: readonly Speaker[],
  key: string,
  give: (speaker: Speaker) => T,
): Readonly<Record<string, T>> {
  return Object.fromEntries(
    speakers.map((one) => [speakerKey(key, speakers, one.identity.agentName), give(one)]),
  );
}
