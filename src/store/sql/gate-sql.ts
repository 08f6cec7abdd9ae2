/** Whether the breaker of a gate is closed, by the text its state is stored as. Where it is not, people must see it. */
export const BREAKER_IS_CLOSED = `state LIKE '%"openUntil":null%'`;
