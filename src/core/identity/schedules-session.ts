/** The session that lists name as the parent of the sessions of schedules. It never exists. */
export const SCHEDULES_SESSION = 'petrichor:schedules';
