/** The id of the message with the thoughts before a message. */
export function toThoughtId(messageId: string): string {
  return `${messageId}-thinking`;
}
