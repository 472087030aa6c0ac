export const topicNames = ['exit-codes', 'environment', 'output', 'files'] as const;
export type TopicName = (typeof topicNames)[number];
