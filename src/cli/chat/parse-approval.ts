/** A person's answer to "may this call run?". */
export type ApprovalDecision =
  | { readonly approve: true }
  | { readonly approve: false; readonly message?: string };

/** Reads `y`, `yes`, `n`, `no`, and what follows a no as its reason. Undefined for anything else: it is asked again. */
export function parseApproval(line: string): ApprovalDecision | undefined {
  const [, word = '', reason = ''] = /^\s*(\w+)[\s,:]*(.*?)\s*$/s.exec(line) ?? [];
  switch (word.toLowerCase()) {
    case 'y':
    case 'yes':
      return reason === '' ? { approve: true } : undefined;
    case 'n':
    case 'no':
      return { approve: false, ...(reason !== '' && { message: reason }) };
    default:
      return undefined;
  }
}
