/** undici imports this name for its HTTP/2 client. petstock never creates one. */
export const constants = {};
