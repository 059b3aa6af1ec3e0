import { omitUndefined } from '../../core/internal.ts';
/** A person's answer to the question whether a call may run. */
export type ApprovalDecision =
  | { readonly approve: true }
  | { readonly approve: false; readonly message?: string };

/**
 * Parses `y`, `yes`, `n` or `no`; text after a no is its reason. Undefined for anything else: the
 * question is repeated.
 */
export function parseApproval(line: string): ApprovalDecision | undefined {
  const [, word = '', reason = ''] = /^\s*(\w+)[\s,:]*(.*?)\s*$/s.exec(line) ?? [];
  switch (word.toLowerCase()) {
    case 'y':
    case 'yes':
      return reason === '' ? { approve: true } : undefined;
    case 'n':
    case 'no':
      return { approve: false, ...omitUndefined({ message: reason !== '' ? reason : undefined }) };
    default:
      return undefined;
  }
}
