package handlers

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/middleware"
	"github.com/holdfast/holdfast/state"
)

// maxLockInfoBytes is far above what clients send, about 300 bytes.
const maxLockInfoBytes = 64 << 10

func (s states) lock(c *gin.Context) {
	s.named(c, func(name state.Name) error {
		info, err := state.ParseLockInfo(middleware.Body(c))
		if err != nil {
			return err
		}
		head, err := s.service.Lock(c.Request.Context(), middleware.Principal(c), name, info)
		if err != nil {
			return err
		}
		setVersionHeaders(c, head.Version)
		warnQuota(c, s.quota)
		c.Data(http.StatusOK, "application/json", info.Raw) // 201 would be an error to clients
		return nil
	})
}

func (s states) unlock(c *gin.Context) {
	s.named(c, func(name state.Name) error {
		info, err := unlockInfo(c, middleware.Body(c))
		if err != nil {
			return err
		}
		if info.ID == "" {
			_, err = s.service.ForceUnlock(c.Request.Context(), middleware.Principal(c), name, state.Forcing{})
		} else {
			err = s.service.Unlock(c.Request.Context(), middleware.Principal(c), name, info)
		}
		if err == nil {
			c.JSON(http.StatusOK, api.Done{Status: success}) // 204 would be an error to clients
		}
		return err
	})
}

// unlockInfo finds the lock in the body, as clients send it, or its ID in ?ID=, for those
// whose DELETE has no body. Neither is Terraform's force-unlock.
func unlockInfo(c *gin.Context, body []byte) (state.LockInfo, error) {
	query, err := readQuery(c)
	if err != nil {
		return state.LockInfo{}, err
	}
	id := query.lockID
	if len(body) == 0 {
		return state.LockInfo{ID: id}, nil
	}
	info, err := state.ParseLockInfo(body)
	if err == nil && id != "" && id != info.ID {
		err = fault.New(fault.ParameterInvalid, "the query and the body name different lock IDs")
	}
	return info, err
}

// holder shows who holds the lock: the holder's LockInfo, or {} when nobody does. It is
// not 404, which on these routes means "there is no state".
func (s states) holder(c *gin.Context) {
	s.named(c, func(name state.Name) error {
		lock, err := s.service.Holder(c.Request.Context(), middleware.Principal(c), name)
		if err != nil {
			return err
		}
		if lock == nil {
			c.JSON(http.StatusOK, api.LockInfo{})
			return nil
		}
		c.Data(http.StatusOK, "application/json", lock.Info.Raw)
		return nil
	})
}
