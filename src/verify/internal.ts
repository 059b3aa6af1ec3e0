/** Exports of `verify/` for other folders of `src/`. The package does not publish them. */

export { checkNames, describeProof } from './describe-proof.ts';
export { formatReportEnd, formatReportStart, formatResult } from './report.ts';
export type { ProofStart } from './report.ts';
export { formatForm, propertyForms } from './properties/property-forms.ts';
