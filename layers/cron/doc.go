// Package cron reads schedules of five fields as cron has them, and says when they come in a time zone: on the days
// on which clocks are changed too.
package cron
