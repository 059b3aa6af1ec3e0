// The keys that event ids are derived from. A key is built from what is known before the event is logged, so that an
// accepted event and the logged one have the same id.

export function messageKey(messageId: string): string {
  return `message:${messageId}`;
}

export function callKey(callId: string): string {
  return `call:${callId}`;
}

export function resultKey(callId: string): string {
  return `result:${callId}`;
}

export function confirmationKey(callId: string): string {
  return `confirmation:${callId}`;
}

/** The key is the stopped turn's invocation, because a turn is interrupted once. */
export function interruptKey(invocationId: string): string {
  return `interrupt:${invocationId}`;
}

export function outcomeKey(outcomeId: string): string {
  return `outcome:${outcomeId}`;
}

/** The key is the index in the turn, so the id is known while the message is generated. */
export function turnMessageKey(type: string, invocationId: string, messageIndex = 0): string {
  return `${type}:${invocationId}:${messageIndex}`;
}
