package model

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/holdfast/holdfast/api"
)

// The kinds of endpoints.
const (
	OpenAI = "openai" // and all that speak like it
	Gemini = "gemini"
)

const (
	maxAnswer = 1 << 20
	// rest is for how long an endpoint that failed is not asked.
	rest = time.Minute
)

// Config says which model is asked.
type Config struct {
	Kind    string // OpenAI or Gemini
	URL     string // such as https://api.example.com/v1, without the name of a call
	Model   string
	Key     string // may be empty
	Timeout time.Duration
	PerDay  int // questions, in UTC
	Now     func() time.Time
}

// Check says what is wrong with a configuration.
func (c Config) Check() error {
	u, err := url.Parse(c.URL)
	switch {
	case c.Kind != OpenAI && c.Kind != Gemini:
		return fmt.Errorf("a model's kind is %s or %s, not %q", OpenAI, Gemini, c.Kind)
	case err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil || u.RawQuery != "":
		return errors.New("a model's URL is like https://api.example.com/v1")
	case c.Model == "" || strings.ContainsAny(c.Model, " ?#\r\n"):
		return errors.New("the name of the model is missing, or has spaces")
	case c.Timeout <= 0 || c.PerDay <= 0:
		return errors.New("a model has a timeout and a number of questions per day above zero")
	}
	return nil
}

// Client asks a model. It may be used by several at once.
type Client struct {
	config Config
	http   *http.Client

	mu      sync.Mutex
	day     string
	asked   int
	resting time.Time // until then nothing is asked
}

// New returns a client for a configuration that Check finds nothing wrong with.
func New(c Config) *Client {
	return &Client{config: c, http: &http.Client{
		Timeout: c.Timeout,
		// A redirect would carry the plan and the key to an address that nobody has agreed to.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// Ask asks about an insight. The error has nothing of the key, the address or the answer.
func (c *Client) Ask(ctx context.Context, all api.Insight) (*api.InsightModel, error) {
	if err := c.spend(); err != nil {
		return nil, err
	}
	text, err := c.answer(ctx, question(all))
	if err == nil {
		var said *api.InsightModel
		if said, err = read(text, all); err == nil {
			said.Model = c.config.Model
			return said, nil
		}
	}
	if ctx.Err() == nil {
		c.mu.Lock()
		c.resting = c.config.Now().Add(rest)
		c.mu.Unlock()
	}
	return nil, err
}

// spend takes one question out of the day's.
func (c *Client) spend() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.config.Now().UTC()
	if now.Before(c.resting) {
		return errors.New("the model has failed a moment ago")
	}
	if day := now.Format(time.DateOnly); day != c.day {
		c.day, c.asked = day, 0
	}
	if c.asked >= c.config.PerDay {
		return errors.New("the model has been asked as often today as it may be")
	}
	c.asked++
	return nil
}

// answer posts a question, and returns the text that the model has made.
func (c *Client) answer(ctx context.Context, question string) (string, error) {
	address, body, err := c.call(question)
	if err != nil {
		return "", err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return "", errors.New("the model's address can't be used")
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", "holdfast")
	switch {
	case c.config.Key == "":
	case c.config.Kind == Gemini:
		request.Header.Set("X-Goog-Api-Key", c.config.Key)
	default:
		request.Header.Set("Authorization", "Bearer "+c.config.Key)
	}
	response, err := c.http.Do(request)
	if err != nil {
		return "", errors.New("the model has not answered")
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return "", fmt.Errorf("the model's answer was %d", response.StatusCode)
	}
	raw, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer+1))
	if err != nil || len(raw) > maxAnswer {
		return "", errors.New("the model's answer broke off or was too large")
	}
	return c.textOf(raw)
}

// call is the address and the body of a request, by the kind of the endpoint.
func (c *Client) call(question string) (address string, body []byte, err error) {
	type object = map[string]any
	base := strings.TrimRight(c.config.URL, "/")
	if c.config.Kind == Gemini {
		body, err = json.Marshal(object{
			"systemInstruction": object{"parts": []object{{"text": instruction}}},
			"contents":          []object{{"role": "user", "parts": []object{{"text": question}}}},
			"generationConfig":  object{"responseMimeType": "application/json", "temperature": 0},
		})
		return base + "/models/" + url.PathEscape(c.config.Model) + ":generateContent", body, err
	}
	body, err = json.Marshal(object{
		"model": c.config.Model, "temperature": 0, "response_format": object{"type": "json_object"},
		"messages": []object{{"role": "system", "content": instruction}, {"role": "user", "content": question}},
	})
	return base + "/chat/completions", body, err
}

// textOf takes the model's text out of an endpoint's answer.
func (c *Client) textOf(raw []byte) (string, error) {
	var said struct {
		Choices []struct {
			Message struct {
				Content string `json:"content"`
			} `json:"message"`
		} `json:"choices"`
		Candidates []struct {
			Content struct {
				Parts []struct {
					Text string `json:"text"`
				} `json:"parts"`
			} `json:"content"`
		} `json:"candidates"`
	}
	if json.Unmarshal(raw, &said) != nil {
		return "", errors.New("the model's answer was no JSON of its kind")
	}
	var text strings.Builder
	switch {
	case c.config.Kind == OpenAI && len(said.Choices) > 0:
		text.WriteString(said.Choices[0].Message.Content)
	case c.config.Kind == Gemini && len(said.Candidates) > 0:
		for _, part := range said.Candidates[0].Content.Parts {
			text.WriteString(part.Text)
		}
	}
	if text.Len() == 0 {
		return "", errors.New("the model's answer was empty")
	}
	return text.String(), nil
}
