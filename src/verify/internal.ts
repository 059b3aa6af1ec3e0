/** Exports of `verify/` for other folders of `src/`. The package does not publish them. */

export { formatForm, propertyForms } from './properties/property-forms.ts';
export type { Parameter, PropertyForm } from './properties/property-forms.ts';
